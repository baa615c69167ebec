// How a request spent its time. Pure.
import { hostOf } from './format.js';

export const PHASES = [
  { name: 'queued', title: 'Queued', says: 'for its turn or a connection' },
  { name: 'dns', title: 'Name look-up', says: 'DNS' },
  { name: 'connect', title: 'Connecting', says: 'TCP handshake' },
  { name: 'tls', title: 'TLS', says: 'TLS handshake' },
  { name: 'send', title: 'Sending', says: 'the request' },
  { name: 'wait', title: 'Waiting', says: 'for the first byte' },
  { name: 'receive', title: 'Receiving', says: 'the response' },
];

/**
 * The phases of a request, in order, without gaps or overlaps, from its start to its end, or to
 * `until` if it never ended. Phases that took no time are dropped. Contradictory times are cut to
 * fit: each phase begins where the one before it ended.
 */
export function phasesOf(request, until) {
  if (request.start === null) return [];
  const limit = Math.max(request.start, request.end ?? until ?? request.start);
  const phases = [];
  let now = request.start;
  const spend = (name, time) => {
    if (time === null) return;
    const end = Math.min(Math.max(time, now), limit);
    const last = phases.at(-1);
    if (last?.name === name) last.end = end;
    else if (end > now) phases.push({ name, start: now, end });
    now = end;
  };
  spend('queued', request.dnsStart);
  if (request.dnsStart !== null) spend('dns', request.dnsEnd ?? request.connectStart);
  if (request.connectStart !== null) {
    spend('queued', request.connectStart);
    spend('connect', request.tlsStart ?? request.connectEnd);
    if (request.tlsStart !== null) spend('tls', request.connectEnd);
  }
  spend('queued', request.sendStart);
  // If the start of sending is unknown, it is part of the next phase. Nothing waited for a
  // connection that was ready before.
  if (request.sendStart !== null) spend('send', request.sendEnd);
  else if (request.connectEnd !== null && request.connectEnd > request.start) {
    spend('queued', request.sendEnd);
  }
  spend('wait', request.firstByte);
  spend(request.firstByte === null ? 'wait' : 'receive', limit);
  return phases;
}

/** Whom a request was sent to: Firefox does not say the address, only the host is known. */
const peerOf = ({ address, url }) => address || hostOf(url);

/**
 * In milliseconds, by address, or by host if the address is not known: the shortest TCP handshake,
 * which is about one round trip.
 */
export function roundTripsOf(requests) {
  const shortest = new Map();
  for (const request of requests) {
    const { connectStart, tlsStart, connectEnd } = request;
    const peer = peerOf(request);
    const end = tlsStart ?? connectEnd;
    if (!peer || connectStart === null || end === null || end < connectStart) continue;
    shortest.set(peer, Math.min(shortest.get(peer) ?? Infinity, end - connectStart));
  }
  return shortest;
}

/**
 * The approximate shares of network and server in the wait. Null if no handshake to that address or
 * host was seen, or there was no wait.
 */
export function waitPartsOf(request, phases, roundTrips) {
  const wait = phases.find((phase) => phase.name === 'wait');
  const roundTrip = roundTrips.get(peerOf(request));
  if (!wait || roundTrip === undefined || request.firstByte === null || request.fromCache)
    return null;
  const took = wait.end - wait.start;
  return { roundTrip: Math.min(roundTrip, took), think: Math.max(0, took - roundTrip) };
}
