import { isValidationError, type ValidationError } from "@effect/cli/ValidationError"
