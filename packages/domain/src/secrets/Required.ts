/** Where declared keys are required, without schemas. */
import type { RequiredIn } from "./DeclaredKey.js"

/** Whether a key is required in an environment. */
export const isRequired = (requiredIn: RequiredIn, env: string): boolean =>
  requiredIn === "*" || requiredIn.some((name) => name === env)
