import { Plus } from "lucide"
import type { ReadonlySignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { setQuery } from "../routing/Router.js"
import { Icon } from "./Icon.js"
import type { Loaded } from "./Load.js"
import { Reading } from "./Reading.js"
import { searched, SearchBox } from "./SearchBox.js"
import { Table } from "./Table.js"
import { hasWords } from "./Words.js"

interface HeadProps {
  readonly title: string
  readonly count?: number | undefined
  /** The purpose of the page, in a sentence. */
  readonly about?: ComponentChildren
  /** The button that creates, at the right. */
  readonly create?: ComponentChildren
  /** Whether it is the head of a section of the page. */
  readonly isSection?: boolean
}

/** The head of a page: its title with the count of what it lists, and its button. */
export const PageHead = ({ about, count, create, isSection = false, title }: HeadProps) => (
  <header class={isSection ? "page-head of-section" : "page-head"}>
    <div class="page-title">
      {isSection ? <h2>{title}</h2> : <h1>{title}</h1>}{" "}
      {count !== undefined && <span class="count">{count.toLocaleString("en")}</span>}
    </div>
    {about !== undefined && <p class="quiet">{about}</p>}
    {create !== undefined && <div class="page-actions">{create}</div>}
  </header>
)

/** The button of the head, which opens the dialog that creates. */
export const NewButton = ({ children, open }: { readonly open: () => void; readonly children: string }) => (
  <button type="button" class="primary" onClick={() => open()}>
    <Icon of={Plus} />
    {children}
  </button>
)

interface EmptyProps {
  readonly title: string
  readonly children?: ComponentChildren
}

/** In place of a list that has nothing: what it would have, and how to begin. */
export const Empty = ({ children, title }: EmptyProps) => (
  <div class="nothing">
    <h2>{title}</h2>
    {children}
  </div>
)

interface ListPageProps<A> extends HeadProps {
  /** Null in place of the rows: the person may not see them, and `children` says so. */
  readonly of: { readonly loaded: ReadonlySignal<Loaded<ReadonlyArray<A> | null>>; readonly reload: () => void }
  readonly heads: ReadonlyArray<string>
  /** The words of a row that the filter regards; absent: the list has no filter. */
  readonly textOf?: (one: A) => string
  readonly row: (one: A) => ComponentChildren
  readonly empty: ComponentChildren
  /** Above the list, whether it has rows or not: the place that it is of. */
  readonly choice?: ComponentChildren
  /** Beside the filter. */
  readonly tools?: ComponentChildren
  /** Below the list. */
  readonly children?: ComponentChildren
}

/** From how many rows on a list has a filter: fewer are seen at once. */
const filteredFrom = 8

/** More rows are not drawn: the filter finds them. */
const mostRows = 500

/** A page that is a list: its head, a filter that the address keeps, the table. */
export const ListPage = <A,>(props: ListPageProps<A>) => {
  const { children, choice, count, empty, heads, of, row, textOf, title, tools, ...head } = props
  const words = searched()
  const all = of.loaded.value.value
  const shown =
    textOf === undefined || words === "" ? all : (all?.filter((one) => hasWords(textOf(one), words)) ?? null)
  const hasFilter = textOf !== undefined && all !== null && (all.length >= filteredFrom || words !== "")
  return (
    <section class="wide-page">
      <PageHead {...head} title={title} count={count ?? (all?.length === 0 ? undefined : all?.length)} />
      {choice}
      {(hasFilter || (tools !== undefined && all !== null && all.length > 0)) && (
        <div class="list-tools">
          {hasFilter && <SearchBox what={title.toLowerCase()} />}
          {words !== "" && (
            <span class="quiet" role="status">
              {shown?.length.toLocaleString("en")} of {all.length.toLocaleString("en")}
            </span>
          )}
          <span class="space" />
          {tools}
        </div>
      )}
      <Reading of={of}>
        {(found) =>
          found?.length === 0 ? (
            empty
          ) : shown?.length === 0 ? (
            <Empty title={`Nothing has “${words}”`}>
              <button type="button" onClick={() => setQuery("q", null)}>
                Show all
              </button>
            </Empty>
          ) : (
            <>
              <Table label={title} heads={heads}>
                {shown?.slice(0, mostRows).map(row)}
              </Table>
              {(shown?.length ?? 0) > mostRows && (
                <p class="quiet">
                  The first {mostRows} of {shown?.length.toLocaleString("en")}: filter to see the others.
                </p>
              )}
            </>
          )
        }
      </Reading>
      {children}
    </section>
  )
}
