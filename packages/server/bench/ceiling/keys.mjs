import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, randomBytes } from "node:crypto"

const cipher = "aes-256-gcm"
const options = { authTagLength: 16 }

const prefixed = (...fields) => {
  const parts = []
  for (const field of fields) {
    const bytes = Buffer.from(field)
    const length = Buffer.allocUnsafe(4)
    length.writeUInt32BE(bytes.length)
    parts.push(length, bytes)
  }
  return Buffer.concat(parts)
}

const encrypt = (key, nonce, data, plain) => {
  const gcm = createCipheriv(cipher, key, nonce, options).setAAD(data)
  return Buffer.concat([nonce, gcm.update(plain), gcm.final(), gcm.getAuthTag()])
}

const decrypt = (key, data, sealed) => {
  const end = sealed.length - 16
  const gcm = createDecipheriv(cipher, key, sealed.subarray(0, 12), options)
    .setAAD(data)
    .setAuthTag(sealed.subarray(end))
  const plain = gcm.update(sealed.subarray(12, end))
  gcm.final()
  return plain
}

const valueData = ({ secret_id, version }) => prefixed("1", "coffer/value", secret_id, String(version))

/** Coffer's key derivation and its format of sealed values. */
export const openKeys = (masterKey) => {
  const derive = (label, length) => Buffer.from(hkdfSync("sha256", Buffer.from(masterKey, "hex"), "", label, length))
  const kek = createSecretKey(derive("coffer/v1/key-encryption", 32))
  const kekId = derive("coffer/v1/key-id", 8).toString("hex")
  const keyData = ({ env_id, key, org_id, project_id, secret_id, version }) =>
    prefixed("1", "coffer/data-key", kekId, org_id, project_id, env_id, secret_id, key, String(version))
  return {
    seal: (place, plain) => {
      const dataKey = randomBytes(32)
      return {
        format: 1,
        kek_id: kekId,
        wrapped_key: encrypt(kek, randomBytes(12), keyData(place), dataKey),
        ciphertext: encrypt(dataKey, randomBytes(12), valueData(place), plain)
      }
    },
    open: (place, row) => {
      const dataKey = decrypt(kek, keyData(place), row.wrapped_key)
      return decrypt(dataKey, valueData(place), row.ciphertext).toString()
    },
    auditKey: (database) => {
      const { ciphertext, nonce } = database
        .prepare("SELECT nonce, ciphertext FROM wrapped_keys WHERE name = 'audit'")
        .get()
      return createSecretKey(
        decrypt(kek, prefixed("1", "coffer/wrap", "audit", kekId), Buffer.concat([nonce, ciphertext]))
      )
    }
  }
}
