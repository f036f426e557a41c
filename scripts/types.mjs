/**
 * Type-checks all sources and tests as one program, and the console, whose modules run in a browser, as another. Runs the
 * diagnostics of Effect's language service on each file. It takes a third of the time of `tsc` and
 * `effect-language-service diagnostics`, and includes the tests. Warnings fail; suggestions are for editors.
 *
 * With `--lint`, ESLint then runs on the same programs, whose types are known by then. It takes four fifths of the time of two
 * processes.
 */
import "./test-tools.mjs"
import { checkSourceFileWorker } from "@effect/language-service/effect-lsp-patch-utils.js"
import { fileURLToPath } from "node:url"
import ts from "typescript"

const host = {
  ...ts.sys,
  onUnRecoverableConfigFileDiagnostic: (diagnostic) => {
    throw new Error(ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n"))
  }
}

const check = (path) => {
  const config = fileURLToPath(new URL(path, import.meta.url))
  const { fileNames, options, errors } = ts.getParsedCommandLineOfConfigFile(config, undefined, host)
  const program = ts.createProgram(fileNames, options)
  const found = [...errors, ...ts.getPreEmitDiagnostics(program)]
  for (const name of fileNames) {
    checkSourceFileWorker(ts, program, program.getSourceFile(name), options, (each) => found.push(each), "typescript")
  }
  return { found, program }
}

const all = check("../tsconfig.test.json")
const webConsole = check("../packages/console/tsconfig.test.json")
const found = [...all.found, ...webConsole.found]

const format = process.stdout.isTTY ? ts.formatDiagnosticsWithColorAndContext : ts.formatDiagnostics
process.stdout.write(
  format(ts.sortAndDeduplicateDiagnostics(found), {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: ts.sys.getCurrentDirectory,
    getNewLine: () => "\n"
  })
)
if (found.length > 0) process.exitCode = 1

if (process.argv.includes("--lint")) {
  const { ESLint } = await import("eslint")
  const using = (files, program) => ({ files, languageOptions: { parserOptions: { programs: [program] } } })
  const eslint = new ESLint({
    overrideConfig: [
      using(["**/*.{ts,tsx}"], all.program),
      using(["packages/console/**/*.{ts,tsx}"], webConsole.program)
    ]
  })
  const results = await eslint.lintFiles(["."])
  const formatter = await eslint.loadFormatter()
  process.stdout.write(await formatter.format(results))
  if (results.some(({ errorCount, warningCount }) => errorCount + warningCount > 0)) process.exitCode = 1
}
