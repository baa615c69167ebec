// Prints a made-up report; the argument is the options of report() as JSON.
import { report } from './reports.mjs';

console.log(JSON.stringify(report(JSON.parse(process.argv[2]))));
