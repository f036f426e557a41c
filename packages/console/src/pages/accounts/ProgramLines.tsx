import type { ProgramUse } from "@coffer/domain/base/ProgramPiece"
import { type ProgramName, programNames, programPieces, programs, serverNeeds } from "@coffer/domain/server/WorksWith"
import { Pieces } from "./Pieces.js"

/** The program with a title. */
export const programOf = (title: string): ProgramName | undefined =>
  programNames.find((name) => programs[name].title === title)

interface LinesProps {
  readonly name: ProgramName
  readonly use: ProgramUse
}

/** The lines that set up a program, and what it needs of the server. */
export const ProgramLines = ({ name, use }: LinesProps) => {
  const needs = serverNeeds(name)
  return (
    <>
      {needs !== undefined && <p class="hint">{needs}</p>}
      <Pieces pieces={programPieces(name, use)} />
    </>
  )
}
