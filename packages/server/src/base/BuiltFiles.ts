import { fileURLToPath } from "node:url"

/** Returns the path of a file or folder of the build. The path is the same from `src/base`, `dist/base` and `dist/bundle`. */
export const builtFile = (name: string): string => fileURLToPath(new URL(`../../dist/${name}`, import.meta.url))
