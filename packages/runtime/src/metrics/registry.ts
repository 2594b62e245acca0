/** Where metrics are declared and exposed. The Prometheus library is loaded only when a registry is made. */

/** Label values of one sample. Never put an unbounded value (a name, a message) in a label. */
export type Labels<L extends string> = Readonly<Partial<Record<L, string | number>>>

/** A number that only grows. */
export interface Counter<L extends string = string> {
  /** @param by defaults to 1 */
  inc(labels: Labels<L>, by?: number): void
}

/** A number that goes up and down. */
export interface Gauge<L extends string = string> {
  set(labels: Labels<L>, value: number): void
  inc(labels: Labels<L>, by?: number): void
  dec(labels: Labels<L>, by?: number): void
}

/** A distribution in buckets. */
export interface Histogram<L extends string = string> {
  observe(labels: Labels<L>, value: number): void
}

/** What every metric is declared with. */
export interface MetricDescription<L extends string> {
  readonly name: string
  /** One sentence, shown in `/metrics`. */
  readonly help: string
  /** @default no labels */
  readonly labels?: readonly L[]
}

/** A gauge may compute its value at the time it is read. */
export interface GaugeDescription<L extends string> extends MetricDescription<L> {
  /** Called before each exposition with the gauge to set. Every declaration of a shared gauge adds its own. */
  readonly collect?: (gauge: Gauge<L>) => void
}

/** A histogram names the upper bounds of its buckets. */
export interface HistogramDescription<L extends string> extends MetricDescription<L> {
  /** Ascending; seconds for durations. @default {@link DURATION_BUCKETS} */
  readonly buckets?: readonly number[]
}

/**
 * What parts of the runtime take to declare their metrics. Declaring the same name twice returns the first
 * metric, so several controllers share theirs.
 *
 * @example
 * const retries = metrics.counter({ name: 'workqueue_retries_total', help: 'Retries.', labels: ['name'] })
 * retries.inc({ name: 'webapp' })
 */
export interface Metrics {
  counter<L extends string = never>(description: MetricDescription<L>): Counter<L>
  gauge<L extends string = never>(description: GaugeDescription<L>): Gauge<L>
  histogram<L extends string = never>(description: HistogramDescription<L>): Histogram<L>
}

/** Metrics that can be read out. */
export interface MetricsRegistry extends Metrics {
  /** Of the text that {@link MetricsRegistry.expose} gives. */
  readonly contentType: string
  /** Everything in the Prometheus text format. */
  expose(): Promise<string>
}

/** Upper bounds in seconds from 5 ms to a minute, for requests and reconciles. */
export const DURATION_BUCKETS: readonly number[] = Object.freeze([
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
])

const discard = { inc: () => undefined, dec: () => undefined, set: () => undefined, observe: () => undefined }

/** Discards everything: the default where no registry is given. */
export const noMetrics: Metrics = {
  counter: () => discard,
  gauge: () => discard,
  histogram: () => discard,
}

/** Options of {@link createMetricsRegistry}. */
export interface MetricsRegistryOptions {
  /** CPU, memory, event loop lag, file descriptors of this process. @default true */
  readonly processMetrics?: boolean
}

/**
 * Creates a separate registry, not shared within the process.
 *
 * @example
 * const metrics = await createMetricsRegistry()
 * metrics.counter({ name: 'widgets_total', help: 'Widgets made.' }).inc({})
 * console.log(await metrics.expose())
 */
export async function createMetricsRegistry(options: MetricsRegistryOptions = {}): Promise<MetricsRegistry> {
  const { default: prometheus } = await import('prom-client')
  const registry = new prometheus.Registry()
  if (options.processMetrics ?? true) prometheus.collectDefaultMetrics({ register: registry })

  // The registry loses the concrete type of a metric; kinds are stored separately so that a name cannot change its kind.
  const counters = new Map<string, Counter>()
  const gauges = new Map<string, { gauge: Gauge; collectors: ((gauge: Gauge) => void)[] }>()
  const histograms = new Map<string, Histogram>()

  return {
    contentType: registry.contentType,
    expose: () => registry.metrics(),
    counter: ({ name, help, labels = [] }) =>
      once(counters, name, () => new prometheus.Counter({ name, help, labelNames: labels, registers: [registry] })),
    gauge: ({ name, help, labels = [], collect }) => {
      const { gauge, collectors } = once(gauges, name, () => {
        const collectors: ((gauge: Gauge) => void)[] = []
        const gauge: Gauge = new prometheus.Gauge({
          name,
          help,
          labelNames: labels,
          registers: [registry],
          collect: () => {
            for (const collector of collectors) collector(gauge)
          },
        })
        return { gauge, collectors }
      })
      if (collect !== undefined) collectors.push(collect)
      return gauge
    },
    histogram: ({ name, help, labels = [], buckets = DURATION_BUCKETS }) =>
      once(histograms, name, () => {
        const bounds = [...buckets]
        return new prometheus.Histogram({ name, help, labelNames: labels, buckets: bounds, registers: [registry] })
      }),
  }
}

function once<M>(known: Map<string, M>, name: string, make: () => M): M {
  const existing = known.get(name)
  if (existing !== undefined) return existing
  const made = make()
  known.set(name, made)
  return made
}
