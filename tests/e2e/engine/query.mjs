// Prints the rows of a query on standard input as JSON. DuckDB is looked for in $NODE_PATH.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { DuckDBInstance } = createRequire(import.meta.url)("@duckdb/node-api");
const database = await (await DuckDBInstance.create()).connect();
const answer = await database.runAndReadAll(readFileSync(0, "utf8"));
console.log(JSON.stringify(answer.getRowObjectsJson()));
