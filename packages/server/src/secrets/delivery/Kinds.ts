import type { TargetKindName } from "@coffer/domain/secrets/TargetKinds"
import type { TargetKind } from "./TargetKind.js"
import { awsParameterStore } from "./kinds/AwsParameterStore.js"
import { awsSecretsManager } from "./kinds/AwsSecretsManager.js"
import { cloudflare } from "./kinds/Cloudflare.js"
import { githubActions } from "./kinds/GithubActions.js"
import { gitlab } from "./kinds/Gitlab.js"
import { kubernetes } from "./kinds/Kubernetes.js"
import { vault } from "./kinds/Vault.js"
import { vercel } from "./kinds/Vercel.js"

/** How each platform is called. */
export const kinds: Readonly<Record<TargetKindName, TargetKind>> = {
  vault,
  "github-actions": githubActions,
  gitlab,
  kubernetes,
  "aws-secrets-manager": awsSecretsManager,
  "aws-parameter-store": awsParameterStore,
  vercel,
  cloudflare
}
