/** A DynaKube with everything, and what becomes of it when most of that is switched off. */
import { type Feature, specWith } from './features.ts'

const HEAVY: readonly Feature[] = [
  'routing',
  'kubernetes-monitoring',
  'custom properties',
  'prometheus',
  'databases',
  'telemetry ingest',
  'log monitoring',
  'kspm',
  'metadata enrichment',
  'OTLP exporters',
]

/** Agents, gateways, extensions, telemetry, logs, security and injection. */
export const FULL = specWith('cloudNativeFullStack', HEAVY)

/** The same with certificates of the user, so that the operator generates none. */
export const FULL_WITH_CERTIFICATES = specWith('cloudNativeFullStack', [
  ...HEAVY,
  "a gateway's certificate",
  "an extension controller's certificate",
])

/** Only agents on hosts. */
export const HOSTS_ONLY = specWith('hostMonitoring', [])
