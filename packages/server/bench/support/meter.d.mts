interface Count {
  readonly statements: number
  readonly trips: number
}

interface Counts {
  readonly outside: Count
  readonly inside: Count & { readonly commits: number }
}

interface Meter {
  readonly behind: (url: string) => string
  readonly counts: () => Counts
  readonly stop: () => void
}

export const startMeter: (port: number) => Promise<Meter>
