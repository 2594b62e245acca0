/** Metrics that a pattern can read: what a scrape of an operator would show. */
import type { Counter, Gauge, Histogram, Labels, MetricsRegistry } from '@reeve/runtime/metrics'

/** Keeps the last value of every counter and gauge. */
export class CountingMetrics implements MetricsRegistry {
  readonly contentType = 'text/plain'
  readonly #values = new Map<string, number>()
  readonly #declared = new Set<string>()

  /** Whether a metric of this name was declared. */
  has(name: string): boolean {
    return this.#declared.has(name)
  }

  /** 0 for what was never counted. */
  value(name: string, labels: Labels<string> = {}): number {
    return this.#values.get(sampleName(name, labels)) ?? 0
  }

  counter<L extends string>({ name }: { readonly name: string }): Counter<L> {
    this.#declared.add(name)
    return { inc: (labels, by = 1) => this.#add(name, labels, by) }
  }

  gauge<L extends string>({ name }: { readonly name: string }): Gauge<L> {
    this.#declared.add(name)
    return {
      set: (labels, value) => this.#values.set(sampleName(name, labels), value),
      inc: (labels, by = 1) => this.#add(name, labels, by),
      dec: (labels, by = 1) => this.#add(name, labels, -by),
    }
  }

  /** Distributions are of no use here: time is virtual. */
  histogram<L extends string>({ name }: { readonly name: string }): Histogram<L> {
    this.#declared.add(name)
    return { observe: () => undefined }
  }

  async expose(): Promise<string> {
    return [...this.#values].map(([sample, value]) => `${sample} ${value}\n`).join('')
  }

  #add(name: string, labels: Labels<string>, by: number): void {
    const sample = sampleName(name, labels)
    this.#values.set(sample, (this.#values.get(sample) ?? 0) + by)
  }
}

function sampleName(name: string, labels: Labels<string>): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  return pairs.length === 0 ? name : `${name}{${pairs.sort().join(',')}}`
}
