import { HttpApi } from "@effect/platform"
import {
  DatabaseUnavailable,
  InternalError,
  MethodNotAllowed,
  NotFound,
  OutcomeUnknown,
  Overloaded,
  PayloadTooLarge,
  UnsupportedMediaType,
  ValidationError
} from "../Errors.js"

/** What every endpoint has, whatever its group: the errors that any call can fail with. */
export const AnyApi = HttpApi.make("coffer")
  .addError(ValidationError)
  .addError(NotFound)
  .addError(MethodNotAllowed)
  .addError(PayloadTooLarge)
  .addError(UnsupportedMediaType)
  .addError(InternalError)
  .addError(Overloaded)
  .addError(DatabaseUnavailable)
  .addError(OutcomeUnknown)
