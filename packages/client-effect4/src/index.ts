/** The public exports of `@coffer/client-effect4`, for applications. */
export type { Api, Call, CallError } from "./Call.js"
export { Coffer, TestCoffer } from "./Coffer.js"
export { MissingSecret, type ReadError, type StartError } from "./Errors.js"
export type { Reloaded } from "./Reload.js"
export type { CofferService, Credential, Leased, LeaseOptions, Options, Snapshot } from "./Service.js"
