/** Parts that many cases share. */
import type { JsonObject } from '../recorded-case.ts'

export const container: JsonObject = { name: 'main', image: 'registry.example/app:1' }

/** A pod's spec with one container, modified by `fields`. */
export function podSpec(fields: JsonObject = {}): JsonObject {
  return { containers: [{ ...container, ...fields }] }
}

/** A template whose labels match {@link selector}. */
export function template(spec: JsonObject = podSpec()): JsonObject {
  return { metadata: { labels: { app: 'web' } }, spec }
}

export const selector: JsonObject = { matchLabels: { app: 'web' } }

/** A template for jobs, whose pods terminate. */
export const jobTemplate: JsonObject = { spec: { ...podSpec(), restartPolicy: 'Never' } }

export const port = { port: 80 }

export const clientConfig: JsonObject = { service: { namespace: 'default', name: 'hooks' } }
