/** Names that the parts of the OpenTelemetry collector share. */
import { appLabels, coreLabels, type LabelSet } from '../../../rendering/labels.ts'
import type { RenderInput } from '../../dynakube-component.ts'

/** The application, and its service account. */
export const COLLECTOR = 'dynatrace-otel-collector'

/** Labels of the collectors themselves. */
export const collectorLabels = ({ dynakube }: RenderInput): LabelSet =>
  appLabels({ name: COLLECTOR, owner: dynakube.metadata.name ?? '', component: COLLECTOR, version: '' })

/** Labels of their Service and ConfigMaps. */
export const collectorPartLabels = ({ dynakube, operator }: RenderInput): LabelSet =>
  coreLabels({ owner: dynakube.metadata.name ?? '', component: COLLECTOR, operatorVersion: operator.version })

/** The key of the endpoint in its ConfigMap, and the variable that it becomes. */
export const ENDPOINT_KEY = 'DT_ENDPOINT'

/** The key of the configuration in its ConfigMap: the name of the file. */
export const CONFIG_FILE = 'telemetry.yaml'

/** Folders of collectors. */
export const FOLDERS = {
  config: '/config',
  tokens: '/secrets/tokens',
  extensionCertificate: '/tls/custom/eec',
  trustedCertificates: '/tls/custom/cacerts',
  gatewayCertificate: '/tls/custom/activegate',
  telemetryCertificate: '/tls/custom/telemetry',
} as const
