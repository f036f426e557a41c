import type { TargetKindName } from "@coffer/domain/secrets/TargetKinds"
import type { TargetKind } from "./TargetKind.js"
import { vault } from "./kinds/Vault.js"

/** How each platform is called. */
export const kinds: Readonly<Record<TargetKindName, TargetKind>> = { vault }
