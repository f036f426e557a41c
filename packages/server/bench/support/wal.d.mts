interface Written {
  readonly commits: number
  readonly walBytes: number
}

export declare const watchLog: (database: string) => {
  readonly counts: () => Written
  readonly stop: () => Written
}
