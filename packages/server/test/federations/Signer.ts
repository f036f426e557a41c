import { CompactSign, type CryptoKey, exportJWK, generateKeyPair, type JWK } from "jose"

export type Claims = Readonly<Record<string, unknown>>

/** A key pair of an issuer, and the tokens that it signs. */
export class Signer {
  private constructor(
    readonly algorithm: string,
    readonly kid: string,
    readonly privateKey: CryptoKey,
    readonly publicKey: JWK
  ) {}

  static async make(algorithm = "ES256", kid = "key-1"): Promise<Signer> {
    const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true })
    return new Signer(algorithm, kid, privateKey, { ...(await exportJWK(publicKey)), kid, alg: algorithm, use: "sig" })
  }

  get jwks(): { readonly keys: ReadonlyArray<JWK> } {
    return { keys: [this.publicKey] }
  }

  async sign(claims: Claims, header: Readonly<Record<string, unknown>> = {}): Promise<string> {
    return new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
      .setProtectedHeader({ alg: this.algorithm, kid: this.kid, typ: "JWT", ...header })
      .sign(this.privateKey)
  }
}

export const publicUrl = "https://coffer.example.com"
export const clusterIssuer = "https://cluster.example.com"

/** A pod's token, as a cluster that the server cannot reach signs it. */
export const podClaims = (audience: string, seconds: number): Claims => ({
  aud: [audience],
  exp: seconds + 600,
  iat: seconds,
  iss: clusterIssuer,
  jti: "5f3d0a0e-6b0c-4d0e-9a3e-0c4f8f3f7a51",
  "kubernetes.io": {
    namespace: "shop",
    node: { name: "worker-1", uid: "d0b1f8a6-52a7-4c7b-9c5f-3c5a8f5a4e11" },
    pod: { name: "deploy-7c9f", uid: "a7e5e0a4-2d51-4d0b-8b1c-55f0c7a0a0b2" },
    serviceaccount: { name: "deploy", uid: "e8f6a9f0-54a5-4d2e-8b0f-7f6a4b1f1c33" }
  },
  nbf: seconds,
  sub: "system:serviceaccount:shop:deploy"
})

/** A federation with keys that are uploaded. */
export const clusterFederation = (signer: Signer, name = "cluster") => ({
  name,
  issuer: clusterIssuer,
  jwks: signer.jwks,
  conditions: { "/kubernetes.io/namespace": "shop", "/kubernetes.io/serviceaccount/name": "deploy" },
  ttl: 3_600
})
