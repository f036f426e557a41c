import type { Backup, BackupList } from "@coffer/domain/server/Backup"
import * as Array from "effect/Array"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Order from "effect/Order"
import { momentText } from "../../base/Moments.js"
import { NotThere, WrongUsage } from "../../base/Failures.js"

/** The choice of the backup to restore: an id, or the newest one, which may have to be made before a given time. */
export interface Choice {
  readonly id: Option.Option<string>
  readonly latest: boolean
  /** In milliseconds since 1970. */
  readonly before: Option.Option<number>
  readonly instance: Option.Option<string>
}

const byTime = Order.mapInput(Order.string, ({ created_at, id }: Backup) => `${created_at} ${id}`)

export const newestOf = (backups: ReadonlyArray<Backup>): Option.Option<Backup> =>
  Array.isNonEmptyReadonlyArray(backups) ? Option.some(Array.max(backups, byTime)) : Option.none()

const byId = ({ data }: BackupList, id: string) =>
  Either.fromOption(
    Array.findFirst(data, (backup) => backup.id === id),
    () => new NotThere({ message: `backup ${id} is not in the store: coffer backup list shows what there is` })
  )

/**
 * The instance whose backups are meant where nothing names one. That is this server, unless it is empty: the first backup of
 * a new machine is newer than all that is to be restored there.
 */
const instanceOf = ({ data, server }: BackupList): Either.Either<string, WrongUsage> => {
  const others = Array.dedupe(data.map(({ instance }) => instance)).filter((instance) => instance !== server.instance)
  const [other] = others
  if (server.organizations > 0 || other === undefined) return Either.right(server.instance)
  if (others.length === 1) return Either.right(other)
  const newest = others.flatMap((instance) =>
    Option.toArray(newestOf(data.filter((backup) => backup.instance === instance)))
  )
  return Either.left(
    new WrongUsage({
      message: [
        "this server is empty, and the store has backups of several others: choose one with --instance",
        ...newest.map(({ created_at, instance }) => `  ${instance}  newest backup made ${momentText(created_at)}`)
      ].join("\n")
    })
  )
}

/** Finds the backup that is meant, by its time and never by its position in the list. */
export const chooseBackup = (list: BackupList, choice: Choice): Either.Either<Backup, NotThere | WrongUsage> => {
  const ways = [Option.isSome(choice.id), choice.latest, Option.isSome(choice.before)].filter(Boolean).length
  if (ways !== 1) {
    return Either.left(
      new WrongUsage({ message: "name the backup: its ID, --latest, or --before TIME; coffer backup list shows them" })
    )
  }
  if (Option.isSome(choice.id)) return byId(list, choice.id.value)
  return Either.flatMap(
    Option.match(choice.instance, { onNone: () => instanceOf(list), onSome: Either.right }),
    (instance) => {
      const own = list.data.filter((backup) => backup.instance === instance)
      const limit = Option.getOrElse(choice.before, () => Infinity)
      const old = own.filter(({ created_at }) => Date.parse(created_at) <= limit)
      return Either.fromOption(newestOf(old), () => {
        const whose = instance === list.server.instance ? "this server" : `instance ${instance}`
        return new NotThere({
          message:
            own.length === 0
              ? `the store has no backup of ${whose}: coffer backup list shows what there is`
              : `no backup of ${whose} is so old: coffer backup list shows them`
        })
      })
    }
  )
}

/** How long ago something was, in the largest unit that fits. */
export const ageOf = (seconds: number): string => {
  const units = [
    ["day", 86_400],
    ["hour", 3_600],
    ["minute", 60]
  ] as const
  for (const [unit, size] of units) {
    const number = Math.floor(seconds / size)
    if (number >= 1) return `${number} ${unit}${number === 1 ? "" : "s"}`
  }
  return "less than a minute"
}
