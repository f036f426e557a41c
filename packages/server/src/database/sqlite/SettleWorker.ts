import * as Schema from "effect/Schema"
import { parentPort, workerData } from "node:worker_threads"
import { settle, SettleRequest } from "./Settle.js"

const result = settle(Schema.decodeUnknownSync(SettleRequest)(workerData))
// Sent as text: deserializing ten thousand objects would block the receiving thread.
parentPort?.postMessage(result === null ? null : result.map((head) => JSON.stringify(head)).join("\n"))
