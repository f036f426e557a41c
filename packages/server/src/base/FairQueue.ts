/** A queue that serves its tenants in turn, and the items of each tenant first in, first out. */
export const makeFairQueue = <A>() => {
  /** The tenant whose turn is next comes first. */
  const queues = new Map<string, Set<A>>()

  const remove = (tenant: string, item: A): boolean => {
    const items = queues.get(tenant)
    const isRemoved = items?.delete(item) === true
    if (items?.size === 0) queues.delete(tenant)
    return isRemoved
  }

  return {
    add: (tenant: string, item: A): void => {
      const items = queues.get(tenant) ?? new Set<A>()
      queues.set(tenant, items.add(item))
    },
    /** Removes an item. Returns false if the queue does not hold it. */
    remove,
    /** Takes the next item of a tenant that may have one. */
    take: (mayHave: (tenant: string) => boolean = () => true): A | undefined => {
      for (const [tenant, items] of queues) {
        if (!mayHave(tenant)) continue
        for (const item of items) {
          // The tenant goes to the end.
          queues.delete(tenant)
          queues.set(tenant, items)
          remove(tenant, item)
          return item
        }
      }
      return undefined
    },
    isEmpty: (): boolean => queues.size === 0
  } as const
}
