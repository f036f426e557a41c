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
      .sign(this.privateKey, { crit: { extension: true } })
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

/** The claims of a job of GitLab CI, as its documentation publishes them. */
export const gitlabClaims = (issuer: string, audience: string, seconds: number): Claims => ({
  namespace_id: "72",
  namespace_path: "my-group",
  project_id: "20",
  project_path: "my-group/my-project",
  user_id: "1",
  user_login: "sample-user",
  user_email: "sample-user@example.com",
  user_identities: [{ provider: "github", extern_uid: "2435223452345" }],
  pipeline_id: "574",
  pipeline_source: "push",
  job_id: "302",
  ref: "feature-branch-1",
  ref_type: "branch",
  ref_path: "refs/heads/feature-branch-1",
  ref_protected: "false",
  groups_direct: ["mygroup/mysubgroup", "myothergroup/myothersubgroup"],
  environment: "test-environment2",
  environment_protected: "false",
  deployment_tier: "testing",
  environment_action: "start",
  runner_id: 1,
  runner_environment: "self-hosted",
  sha: "714a629c0b401fdce83e847fc9589983fc6f46bc",
  project_visibility: "public",
  ci_config_ref_uri: "gitlab.example.com/my-group/my-project//.gitlab-ci.yml@refs/heads/main",
  ci_config_sha: "714a629c0b401fdce83e847fc9589983fc6f46bc",
  jti: "235b3a54-b797-45c7-ae9a-f72d7bc6ef5b",
  iat: seconds,
  nbf: seconds - 5,
  exp: seconds + 3_600,
  iss: issuer,
  sub: "project_path:my-group/my-project:ref_type:branch:ref:feature-branch-1",
  aud: audience
})

/** The claims of a projected token of a pod, as the documentation of Kubernetes publishes them. */
export const kubernetesClaims = (issuer: string, audience: string, seconds: number): Claims => ({
  aud: [audience],
  exp: seconds + 600,
  iat: seconds,
  iss: issuer,
  jti: "aed34954-b33a-4142-b1ec-389d6bbb4936",
  "kubernetes.io": {
    namespace: "my-namespace",
    node: { name: "my-node", uid: "646e7c5e-32d6-4d42-9dbd-e504e6cbe6b1" },
    pod: { name: "my-pod", uid: "5e0bd49b-f040-43b0-99b7-22765a53f7f3" },
    serviceaccount: { name: "my-serviceaccount", uid: "14ee3fa4-a7e2-420f-9f9a-dbc4507c3798" }
  },
  nbf: seconds,
  sub: "system:serviceaccount:my-namespace:my-serviceaccount"
})

/** A federation with keys that are uploaded. */
export const clusterFederation = (signer: Signer, name = "cluster") => ({
  name,
  issuer: clusterIssuer,
  jwks: signer.jwks,
  conditions: { "/kubernetes.io/namespace": "shop", "/kubernetes.io/serviceaccount/name": "deploy" },
  ttl: 3_600
})
