interface Version {
  readonly version: string
  readonly commit: string
  readonly date: string
  readonly digest: string
}

interface Measured {
  readonly row: string
  readonly against: string
  readonly version?: { readonly digest: string }
}

export declare const currentVersion: () => Version
export declare const rowsOf: <Row extends Measured>(
  runs: ReadonlyArray<{ readonly results: ReadonlyArray<Row> }>,
  digest: string
) => Array<Row>
