import * as Metric from "effect/Metric"
import type * as MetricKey from "effect/MetricKey"
import * as MetricState from "effect/MetricState"

interface Family {
  readonly description: string
  readonly type: "counter" | "gauge"
}

/** The declared metrics. The page names each, also without values. The toolkit has metrics of its own. */
const families = new Map<string, Family>()

/** Puts a metric on the page from the start, because alerts need it: the toolkit lists a metric after its first use. */
export const listed = <Type, In, Out>(metric: Metric.Metric<Type, In, Out>): void => {
  metric.unsafeValue([])
}

/** A counter whose labels are added by `Metric.tagged`. */
export const counterFamily = (name: string, description: string): Metric.Metric.Counter<number> => {
  families.set(name, { description, type: "counter" })
  return Metric.counter(name, { description, incremental: true })
}

const gaugeFamily = (name: string, description: string): Metric.Metric.Gauge<number> => {
  families.set(name, { description, type: "gauge" })
  return Metric.gauge(name, { description })
}

/** A counter for the metrics page. */
export const counter = (name: string, description: string): Metric.Metric.Counter<number> => {
  const metric = counterFamily(name, description)
  listed(metric)
  return metric
}

/** A counter with a label whose values are a fixed set. All of them are on the page from the start, so that `increase` sees the first. */
export const counters = <Label extends string>(
  name: string,
  description: string,
  label: string,
  values: ReadonlyArray<Label>
) => {
  const metric = counterFamily(name, description)
  const of = (value: Label): Metric.Metric.Counter<number> => Metric.tagged(metric, label, value.replaceAll(" ", "_"))
  for (const value of values) listed(of(value))
  return of
}

/** A gauge. The page has no value of it until it is set, and while it is NaN. */
export const gauge = gaugeFamily

/** As `gauge`, with a label. */
export const gauges = <Label extends string>(name: string, description: string, label: string) => {
  const metric = gaugeFamily(name, description)
  return (value: Label): Metric.Metric.Gauge<number> => Metric.tagged(metric, label, value)
}

const valueOf = (state: MetricState.MetricState.Untyped): number | bigint =>
  MetricState.isCounterState(state) ? state.count : MetricState.isGaugeState(state) ? state.value : NaN

const seriesOf = ({ name, tags }: MetricKey.MetricKey.Untyped): string =>
  tags.length === 0 ? name : `${name}{${tags.map(({ key, value }) => `${key}="${value}"`).join(",")}}`

/** The declared metrics in Prometheus' text format, without those that `omits` names. */
export const render = (omits: (name: string) => boolean): string => {
  const series = new Map<string, Array<string>>([...families.keys()].map((name) => [name, []]))
  for (const { metricKey, metricState } of Metric.unsafeSnapshot()) {
    const value = valueOf(metricState)
    if (!Number.isNaN(value)) series.get(metricKey.name)?.push(`${seriesOf(metricKey)} ${value}`)
  }
  return [...families]
    .filter(([name]) => !omits(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, { description, type }]) => [
      `# HELP ${name} ${description}`,
      `# TYPE ${name} ${type}`,
      ...(series.get(name) ?? [])
    ])
    .map((line) => `${line}\n`)
    .join("")
}
