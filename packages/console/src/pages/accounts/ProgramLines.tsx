import {
  type ProgramName,
  programNames,
  programPieces,
  type ProgramUse,
  serverNeeds,
  titleOf
} from "@coffer/domain/guides/Programs"
import { Pieces } from "./Pieces.js"

/** The program with a title. */
export const programOf = (title: string): ProgramName | undefined =>
  programNames.find((name) => titleOf(name) === title)

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
