import { NotFound } from "@coffer/domain/errors/Errors"
import type { SecretKey } from "@coffer/domain/base/Names"

export const secretNotFound = (key: SecretKey) => new NotFound({ message: `secret ${key} does not exist` })

export const versionNotFound = (key: SecretKey, version: number) =>
  new NotFound({ message: `version ${version} of secret ${key} does not exist` })
