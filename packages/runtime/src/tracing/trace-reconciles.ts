/** Spans of reconciles: one for each, and one for each of its stages. */
import type { ReconcileRecord } from '../controller/reconcile-record.ts'

/** What is used of a span of `@opentelemetry/api`. */
export interface TracedSpan {
  setStatus(status: { readonly code: number; readonly message?: string }): unknown
  end(endMs: number): void
}

/** What is used of the module `@opentelemetry/api`; `Context` is opaque. */
export interface TracingApi<Span extends TracedSpan, Context> {
  readonly trace: {
    getTracer(name: string): {
      startSpan(
        name: string,
        options: { startTime: number; attributes: Record<string, string | number> },
        context: Context,
      ): Span
    }
    setSpan(context: Context, span: Span): Context
  }
  readonly context: { active(): Context }
}

/** `SpanStatusCode.ERROR`. */
const STATUS_ERROR = 2

/** Outcomes that a person may have to look at; conflicts are retried, and the others are as intended. */
const FAILED: ReadonlySet<ReconcileRecord['outcome']> = new Set(['error', 'terminal', 'timeout'])

/**
 * Returns an `onReconcile` that makes spans of the records of reconciles. Nothing is traced unless it is passed to an
 * operator, and this package does not depend on OpenTelemetry: pass its API in.
 *
 * *Guarantees*: a span has the times of the reconcile, not those of the export. A stage that ran several times is one span,
 * from its first start, as long as all of them together. No span contains objects or messages of requests; errors are
 * those of the log, without secrets.
 *
 * @example
 * import * as api from '@opentelemetry/api'
 * await greeter.run({ onReconcile: traceReconciles(api) })
 */
export function traceReconciles<Span extends TracedSpan, Context>(
  api: TracingApi<Span, Context>,
  name = '@reeve/runtime',
): (record: ReconcileRecord) => void {
  const tracer = api.trace.getTracer(name)
  return (record) => {
    const { controller, key, startedMs, durationMs, outcome, error, stages } = record
    const span = tracer.startSpan(
      `reconcile ${controller}`,
      { startTime: startedMs, attributes: attributesOf(record) },
      api.context.active(),
    )
    const inside = api.trace.setSpan(api.context.active(), span)
    for (const stage of stages) {
      const attributes = { 'reeve.controller': controller, 'k8s.object.name': key.name }
      const options = { startTime: stage.startedMs, attributes }
      tracer.startSpan(stage.name, options, inside).end(stage.startedMs + stage.durationMs)
    }
    if (FAILED.has(outcome)) span.setStatus({ code: STATUS_ERROR, ...(error !== undefined && { message: error }) })
    span.end(startedMs + durationMs)
  }
}

function attributesOf(record: ReconcileRecord): Record<string, string | number> {
  const { controller, key, reconcileId, attempt, waitedMs, outcome, writes, omittedWrites, errorCode } = record
  return {
    'reeve.controller': controller,
    'k8s.object.name': key.name,
    ...(key.namespace !== undefined && { 'k8s.namespace.name': key.namespace }),
    'reeve.reconcile.id': reconcileId,
    'reeve.reconcile.attempt': attempt,
    'reeve.reconcile.waited_ms': waitedMs,
    'reeve.reconcile.outcome': outcome,
    'reeve.reconcile.writes': writes.length + omittedWrites,
    ...(errorCode !== undefined && { 'error.type': errorCode }),
  }
}
