import { audienceOf } from "./Claims.js"
import { piece, type Pods, type ProgramPiece, type ProgramUse, quoted, roleOf, word } from "../base/ProgramPiece.js"

/** Programs of a Kubernetes cluster that take secrets from Coffer, with the lines that set them up. */

const podsOf = ({ account, org, server, trusted }: ProgramUse): Pods =>
  trusted ?? { namespace: "shop", serviceAccount: "webshop", audience: audienceOf(server, org, account) }

/** Lets the pods sign in, unless they do already. */
const trust = (use: ProgramUse): ReadonlyArray<ProgramPiece> => {
  const { namespace, serviceAccount } = podsOf(use)
  return use.trusted === undefined
    ? [
        piece(
          `The cluster's public keys are in cluster.json (kubectl get --raw /openid/v1/jwks). Let the pods of the service account ${serviceAccount} of the namespace ${namespace} sign in. A cluster whose tokens have another issuer than https://kubernetes.default.svc.cluster.local needs --issuer:`,
          `coffer service-account trust ${word(use.account)} --org ${use.org} --kubernetes ${namespace}/${serviceAccount} --jwks cluster.json`
        )
      ]
    : []
}

export const operator = (use: ProgramUse) => {
  const { audience, namespace, serviceAccount } = podsOf(use)
  const metadata = (name: string) => `metadata: { name: ${name}, namespace: ${quoted(namespace)} }`
  const signIn = use.hasKey
    ? [
        "  method: appRole",
        "  mount: approle",
        "  appRole:",
        `    roleId: ${quoted(roleOf(use))}`,
        "    secretRef: coffer-key"
      ]
    : [
        "  method: kubernetes",
        "  mount: kubernetes",
        "  kubernetes:",
        `    role: ${quoted(roleOf(use))}`,
        `    serviceAccount: ${quoted(serviceAccount)}`,
        "    audiences:",
        `      - ${quoted(audience)}`
      ]
  return [
    ...(use.hasKey
      ? [
          piece(
            "Store the key; the command reads it from standard input:",
            `tr -d '\\n' | kubectl create secret generic coffer-key --namespace ${namespace} --from-file=id=/dev/stdin`
          )
        ]
      : trust(use)),
    piece(
      `In the namespace ${namespace} of the cluster:`,
      "apiVersion: secrets.hashicorp.com/v1beta1",
      "kind: VaultConnection",
      metadata("coffer"),
      "spec:",
      `  address: ${quoted(use.server)}`,
      "---",
      "apiVersion: secrets.hashicorp.com/v1beta1",
      "kind: VaultAuth",
      metadata("coffer"),
      "spec:",
      "  vaultConnectionRef: coffer",
      ...signIn,
      "---",
      "apiVersion: secrets.hashicorp.com/v1beta1",
      "kind: VaultStaticSecret",
      metadata("webshop"),
      "spec:",
      "  vaultAuthRef: coffer",
      "  type: kv-v2",
      `  mount: ${quoted(use.project)}`,
      `  path: ${quoted(use.env)}`,
      "  refreshAfter: 5m",
      "  destination: { create: true, name: webshop }"
    )
  ]
}

export const csiProvider = (use: ProgramUse) => {
  const { audience, namespace } = podsOf(use)
  return [
    ...trust(use),
    piece(
      `In the namespace ${namespace} of the cluster:`,
      "apiVersion: secrets-store.csi.x-k8s.io/v1",
      "kind: SecretProviderClass",
      `metadata: { name: webshop, namespace: ${quoted(namespace)} }`,
      "spec:",
      "  provider: vault",
      "  parameters:",
      `    vaultAddress: ${quoted(use.server)}`,
      "    vaultAuthMountPath: kubernetes",
      `    roleName: ${quoted(roleOf(use))}`,
      `    audience: ${quoted(audience)}`,
      "    objects: |",
      "      - objectName: DATABASE_URL",
      `        secretPath: ${quoted(`${use.project}/data/${use.env}`)}`,
      "        secretKey: DATABASE_URL"
    )
  ]
}
