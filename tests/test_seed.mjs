// The seed of tests that draw: always the same, unless REPRISE_TEST_SEED is a number or "fresh".
import crypto from 'node:crypto';

const given = process.env.REPRISE_TEST_SEED ?? '1';
export const testSeed = given === 'fresh' ? crypto.randomInt(2 ** 31) : Number(given);
console.log(`REPRISE_TEST_SEED=${testSeed}`);
