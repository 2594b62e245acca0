/** Labels of gateways and of what belongs to them. */
import { appLabels, coreLabels, type LabelSet } from '../../../rendering/labels.ts'
import type { RenderInput } from '../../dynakube-component.ts'

const COMPONENT = 'activegate'

/** Labels of the gateways themselves. */
export const gatewayLabels = ({ dynakube }: RenderInput): LabelSet =>
  appLabels({
    name: COMPONENT,
    owner: dynakube.metadata.name ?? '',
    component: COMPONENT,
    version: dynakube.status.activeGate?.version ?? '',
  })

/** Labels of the Service and the certificate. */
export const gatewayPartLabels = ({ dynakube, operator }: RenderInput): LabelSet =>
  coreLabels({ owner: dynakube.metadata.name ?? '', component: COMPONENT, operatorVersion: operator.version })
