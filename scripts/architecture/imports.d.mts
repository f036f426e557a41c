interface Module {
  readonly room: string
  readonly imports: ReadonlyArray<string>
  readonly packages: ReadonlyArray<string>
}

export declare const modulesOf: (name: string) => Promise<ReadonlyMap<string, Module>>
export declare const circlesIn: (modules: ReadonlyMap<string, Module>) => ReadonlyArray<ReadonlyArray<string>>
