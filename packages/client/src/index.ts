/** What applications import from `@coffer/client`: nothing else of the package is public. */
export { EmptyEnvironment, MissingSecret, type ReadApiError, type ReadError, type StartError } from "./Errors.js"
