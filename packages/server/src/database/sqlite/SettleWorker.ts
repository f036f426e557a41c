import * as Schema from "effect/Schema"
import { parentPort, workerData } from "node:worker_threads"
import { settle, SettleRequest } from "./Settle.js"

const result = settle(Schema.decodeUnknownSync(SettleRequest)(workerData))
// As text: ten thousand heads as objects would hold up the thread that reads them.
parentPort?.postMessage(result === null ? null : result.map((head) => JSON.stringify(head)).join("\n"))
