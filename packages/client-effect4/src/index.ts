/** What applications import from `@coffer/client-effect4`. */
export { Coffer, TestCoffer } from "./Coffer.js"
export { MissingSecret, type ReadError, type StartError } from "./Errors.js"
export type { CofferService, Options, Snapshot } from "./Service.js"
