/**
 * Type-checks all sources and tests as one program, and the console, whose modules run in a browser, as another. Runs the
 * diagnostics of Effect's language service on each file. It takes a third of the time of `tsc` and
 * `effect-language-service diagnostics`, and includes the tests. Warnings fail; suggestions are for editors.
 */
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
  return found
}

const found = ["../tsconfig.test.json", "../packages/console/tsconfig.test.json"].flatMap(check)

const format = process.stdout.isTTY ? ts.formatDiagnosticsWithColorAndContext : ts.formatDiagnostics
process.stdout.write(
  format(ts.sortAndDeduplicateDiagnostics(found), {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: ts.sys.getCurrentDirectory,
    getNewLine: () => "\n"
  })
)
if (found.length > 0) process.exitCode = 1
