import { NotFound } from "@coffer/domain/Errors"
import type { SecretKey } from "@coffer/domain/Names"

export const secretNotFound = (key: SecretKey) => new NotFound({ message: `secret ${key} is not there` })

export const versionNotFound = (key: SecretKey, version: number) =>
  new NotFound({ message: `version ${version} of secret ${key} is not there` })
