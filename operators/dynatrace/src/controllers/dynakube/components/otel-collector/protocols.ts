/** What collectors understand, and where they listen for it. */

/** One port of a protocol. */
export interface ProtocolPort {
  /** The name of the port of the Service. */
  readonly name: string
  readonly port: number
  readonly transport: 'TCP' | 'UDP'
  /** What service meshes and load balancers should take the traffic for. */
  readonly appProtocol?: 'grpc' | 'http'
  /** Where the receiver keeps its settings: below `protocols`, or directly. */
  readonly path: string | undefined
}

/** A protocol. */
export interface Protocol {
  readonly ports: readonly ProtocolPort[]
  /** What it carries. */
  readonly signals: readonly Signal[]
}

/** What telemetry consists of. */
export type Signal = 'traces' | 'metrics' | 'logs'

/** Protocols by the name that users and collectors have for them. */
export const PROTOCOLS: Readonly<Record<string, Protocol>> = {
  otlp: {
    ports: [
      { name: 'otlp-grpc', port: 4317, transport: 'TCP', appProtocol: 'grpc', path: 'grpc' },
      { name: 'otlp-http', port: 4318, transport: 'TCP', appProtocol: 'http', path: 'http' },
    ],
    signals: ['traces', 'metrics', 'logs'],
  },
  jaeger: {
    ports: [
      { name: 'jaeger-grpc', port: 14250, transport: 'TCP', appProtocol: 'grpc', path: 'grpc' },
      { name: 'jaeger-thrift-binary', port: 6832, transport: 'UDP', path: 'thrift_binary' },
      { name: 'jaeger-thrift-compact', port: 6831, transport: 'UDP', path: 'thrift_compact' },
      { name: 'jaeger-thrift-http', port: 14268, transport: 'TCP', path: 'thrift_http' },
    ],
    signals: ['traces'],
  },
  statsd: { ports: [{ name: 'statsd', port: 8125, transport: 'UDP', path: undefined }], signals: ['metrics'] },
  zipkin: { ports: [{ name: 'zipkin', port: 9411, transport: 'TCP', path: undefined }], signals: ['traces'] },
}
