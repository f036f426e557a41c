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

/** The contract of every endpoint, whatever its group: the errors that any call can fail with. */
export const AnyApi = anyApi("coffer")
