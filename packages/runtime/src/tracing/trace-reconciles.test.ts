import * as opentelemetry from '@opentelemetry/api'
import { expect, test } from 'vitest'
import type { ReconcileRecord } from '../controller/reconcile-record.ts'
import { traceReconciles } from './trace-reconciles.ts'

const record: ReconcileRecord = {
  controller: 'greeting',
  key: { namespace: 'shop', name: 'hello' },
  reconcileId: '7',
  reasons: [],
  omittedReasons: 0,
  attempt: 2,
  startedMs: 1_000,
  waitedMs: 5,
  durationMs: 40,
  stages: [
    { name: 'render', startedMs: 1_001, durationMs: 1 },
    { name: 'apply', startedMs: 1_002, durationMs: 30 },
  ],
  writes: [],
  omittedWrites: 0,
  outcome: 'error',
  error: 'the server is away',
  errorCode: 'KUBE_UNAVAILABLE',
}

class Span {
  status: unknown
  endMs: number | undefined
  readonly name: string
  readonly parent: Span | undefined
  readonly startMs: number
  readonly attributes: Record<string, string | number>

  constructor(name: string, parent: Span | undefined, startMs: number, attributes: Record<string, string | number>) {
    this.name = name
    this.parent = parent
    this.startMs = startMs
    this.attributes = attributes
  }

  setStatus(status: unknown): void {
    this.status = status
  }

  end(endMs: number): void {
    this.endMs = endMs
  }
}

test('a reconcile is a span with its own times, and its stages are spans inside it', () => {
  const spans: Span[] = []
  const api = {
    trace: {
      getTracer: () => ({
        startSpan(
          name: string,
          { startTime, attributes }: { startTime: number; attributes: Record<string, string | number> },
          parent: Span | undefined,
        ) {
          const span = new Span(name, parent, startTime, attributes)
          spans.push(span)
          return span
        },
      }),
      setSpan: (_context: Span | undefined, span: Span): Span | undefined => span,
    },
    context: { active: (): Span | undefined => undefined },
  }
  traceReconciles(api)(record)
  const [reconcile] = spans
  expect(spans.map(({ name, parent, startMs, endMs }) => ({ name, parent: parent?.name, startMs, endMs }))).toEqual([
    { name: 'reconcile greeting', parent: undefined, startMs: 1_000, endMs: 1_040 },
    { name: 'render', parent: 'reconcile greeting', startMs: 1_001, endMs: 1_002 },
    { name: 'apply', parent: 'reconcile greeting', startMs: 1_002, endMs: 1_032 },
  ])
  expect(reconcile?.status).toEqual({ code: opentelemetry.SpanStatusCode.ERROR, message: 'the server is away' })
  expect(reconcile?.attributes).toMatchObject({
    'k8s.namespace.name': 'shop',
    'k8s.object.name': 'hello',
    'reeve.reconcile.outcome': 'error',
    'error.type': 'KUBE_UNAVAILABLE',
  })
})

test("tracing takes OpenTelemetry's API as it is, and does nothing without an SDK", () => {
  expect(() => traceReconciles(opentelemetry)(record)).not.toThrow()
})
