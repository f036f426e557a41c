import * as HttpApi from "@effect/platform/HttpApi"
import {
  DatabaseUnavailable,
  InternalError,
  MethodNotAllowed,
  NotFound,
  OutcomeUnknown,
  Overloaded,
  PayloadTooLarge,
  StorageFull,
  UnsupportedMediaType,
  ValidationError
} from "../errors/Errors.js"

/** A contract with the errors that any call can fail with. */
export const anyApi = <const Id extends string>(id: Id) =>
  HttpApi.make(id)
    .addError(ValidationError)
    .addError(NotFound)
    .addError(MethodNotAllowed)
    .addError(PayloadTooLarge)
    .addError(UnsupportedMediaType)
    .addError(InternalError)
    .addError(Overloaded)
    .addError(DatabaseUnavailable)
    .addError(OutcomeUnknown)
    .addError(StorageFull)

/** What every endpoint of the API has, whatever its group. */
export const AnyApi = anyApi("coffer")
