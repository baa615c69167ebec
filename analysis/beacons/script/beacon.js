// Sends one beacon of a view of a page, when the page is hidden or left: the lean form of BEACONS.md.
//
//   <script src="/beacon.js" data-beacon-url="/beacons" data-country="DE" async></script>
//
// Other data- attributes of the element are tags. Whatever the page has done to the browser's
// functions, nothing is thrown into it. Plain ES5: an older browser must not stumble over it.
(function () {
  'use strict';
  var LIMIT = 6e4; // bytes of a beacon; sendBeacon takes 64 KiB
  var MOST = 2e3; // entries to look at
  try {
    var element = document.currentScript;
    var url = '/beacons';
    var tags = {};
    var full = 0;
    var sent = false;

    var tenths = function (ms) {
      return Math.round(ms * 10);
    };
    // Not inside a surrogate pair.
    var cut = function (text, most) {
      return String(text).slice(0, most).replace(/[\ud800-\udbff]$/, '');
    };
    // Queries and fragments have secrets of users, and make every URL another one.
    var clean = function (name) {
      return cut(String(name).split(/[?#]/)[0], 1e3);
    };
    var entries = function (type) {
      try {
        return [].slice.call(performance.getEntriesByType(type));
      } catch (error) {
        return [];
      }
    };

    var requestRow = function (entry) {
      var start = tenths(entry.startTime);
      var end = entry.responseEnd || entry.startTime + entry.duration;
      var row = [
        clean(entry.name),
        entry.entryType == 'navigation' ? 'navigation' : entry.initiatorType,
        start,
        tenths(end),
        entry.transferSize || 0,
      ];
      // 0 in responses of other origins without Timing-Allow-Origin.
      if (entry.requestStart > 0) {
        var last = 0;
        [
          entry.redirectStart,
          entry.redirectEnd,
          entry.domainLookupStart,
          entry.domainLookupEnd,
          entry.connectStart,
          entry.secureConnectionStart || entry.connectEnd,
          entry.connectEnd,
          entry.requestStart,
          Math.max(entry.responseStart, entry.finalResponseHeadersStart || 0) || end,
        ].forEach(function (moment) {
          row.push((last = Math.max(last, tenths(moment) - start)));
        });
      }
      return row;
    };
    var workRow = function (entry, name) {
      return [name, tenths(entry.startTime), tenths(entry.startTime + entry.duration)];
    };

    // The first `most` rows of all lists together, as JSON.
    var pack = function (lists, total, most) {
      var navigation = entries('navigation')[0] || {};
      var beacon = {
        beacon: 1,
        page: clean(location.href),
        started: Math.round(performance.timeOrigin || performance.timing.navigationStart),
        load: tenths(navigation.loadEventStart || 0),
        tags: tags,
      };
      if (total > most) beacon.cut = total - most;
      if (full) beacon.full = 1;
      ['requests', 'scripts', 'measures'].forEach(function (name, i) {
        beacon[name] = lists[i].slice(0, most);
        most -= beacon[name].length;
      });
      return JSON.stringify(beacon);
    };

    var send = function (event) {
      try {
        if (sent || (event.type != 'pagehide' && document.visibilityState != 'hidden')) return;
        var lists = [
          entries('navigation').concat(entries('resource')).map(requestRow),
          [],
          entries('measure').map(function (entry) {
            return workRow(entry, cut(entry.name, 200));
          }),
        ];
        entries('long-animation-frame').forEach(function (frame) {
          frame.scripts.forEach(function (script) {
            lists[1].push(workRow(script, clean(script.sourceURL)));
          });
        });
        var total = lists[0].length + lists[1].length + lists[2].length;
        var most = Math.min(total, MOST);
        var body, size;
        while ((size = new Blob([(body = pack(lists, total, most))]).size) > LIMIT && most > 0) {
          most = Math.max(0, Math.floor((most * LIMIT) / size) - 1);
        }
        sent = navigator.sendBeacon(url, body);
      } catch (error) {}
    };

    try {
      tags.network = navigator.connection.effectiveType;
    } catch (error) {}
    [].forEach.call((element && element.attributes) || [], function (attribute) {
      var name = attribute.name;
      if (name == 'data-beacon-url') url = attribute.value;
      else if (!name.indexOf('data-')) tags[name.slice(5)] = cut(attribute.value, 100);
    });
    document.addEventListener('visibilitychange', send);
    addEventListener('pagehide', send);
    performance.addEventListener('resourcetimingbufferfull', function () {
      full = 1;
    });
  } catch (error) {}
})();
