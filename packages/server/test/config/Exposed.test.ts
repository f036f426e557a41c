import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { exposedSecrets } from "@coffer/server/base/config/Exposed"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"

describe("a file with a secret that everybody may read", () => {
  let folder = ""
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "coffer-exposed-"))
  })
  afterEach(() => {
    rmSync(folder, { recursive: true })
  })

  const file = (mode: number) => {
    const path = join(folder, `key-${mode.toString(8)}`)
    writeFileSync(path, "0")
    chmodSync(path, mode)
    return path
  }

  it("is told by the name of its variable, through a link too", () => {
    const link = join(folder, "link")
    symlinkSync(file(0o644), link)
    assert.deepStrictEqual(exposedSecrets({ SERVICE_MASTER_KEY_FILE: link, SMTP_PASSWORD_FILE: file(0o604) }), [
      "SERVICE_MASTER_KEY_FILE",
      "SMTP_PASSWORD_FILE"
    ])
  })

  it.each([0o400, 0o600, 0o640])("is not one of mode %o", (mode) => {
    assert.deepStrictEqual(exposedSecrets({ SERVICE_MASTER_KEY_FILE: file(mode) }), [])
  })

  it("is not one of the server's certificate, whose key is refused in that case", () => {
    const environment = { SERVICE_TLS_CERT_FILE: file(0o644), SERVICE_TLS_KEY_FILE: file(0o604) }
    assert.deepStrictEqual(exposedSecrets(environment), [])
  })

  it("is not a missing file, nor one of another program", () => {
    const environment = { SERVICE_MASTER_KEY_FILE: join(folder, "none"), OTHER_FILE: file(0o644), BACKUP_X_FILE: "" }
    assert.deepStrictEqual(exposedSecrets(environment), [])
  })
})
