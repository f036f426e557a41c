import * as Context from "effect/Context"
import type * as Fiber from "effect/Fiber"

/** On whose behalf a fiber works: the id of an organization or of a caller without one, or the network of a stranger. */
export interface TenantShape {
  name: string
}

/** Scarce resources are shared fairly by tenant. The default is for the server's own work. */
export class Tenant extends Context.Reference<Tenant>()("@coffer/server/Tenant", {
  defaultValue: (): TenantShape => ({ name: "" })
}) {}

/** The name of a fiber's tenant. */
export const tenantOf = ({ currentContext }: Pick<Fiber.RuntimeFiber<unknown, unknown>, "currentContext">): string =>
  Context.get(currentContext, Tenant).name
