/** Counts what becomes of pods, so that a failure shows without anyone reading pods. */
import { type Metrics, noMetrics } from '@reeve/runtime/metrics'
import type { Outcome } from './mutate-pod.ts'

/** Counts one pod. `reason` is empty, or one of those that annotations name. */
export type CountInjection = (result: Outcome | 'failed', reason: string) => void

/** Declares `dynatrace_webhook_injections_total{result,reason}`; both labels have a bounded set of values. */
export function injectionCounter(metrics: Metrics = noMetrics): CountInjection {
  const pods = metrics.counter({
    name: 'dynatrace_webhook_injections_total',
    help: 'Pods reviewed for injection, by outcome and reason.',
    labels: ['result', 'reason'],
  })
  return (result, reason) => pods.inc({ result, reason })
}
