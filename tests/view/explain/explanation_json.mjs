// Prints an explanation as JSON; the argument holds the options of explanation() as JSON, and
// perhaps a text to put everywhere.
import { explanation, withTextEverywhere } from './explanations.mjs';

const { text = '', ...options } = JSON.parse(process.argv[2]);
process.stdout.write(JSON.stringify(withTextEverywhere(explanation(options), text)));
