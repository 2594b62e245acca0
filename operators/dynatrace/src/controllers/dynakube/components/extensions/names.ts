/** Names that the parts of extensions share. */
import type { DynaKube } from '../../../../api/latest.ts'
import { appLabels, coreLabels, type LabelSet } from '../../../rendering/labels.ts'
import type { RenderInput } from '../../dynakube-component.ts'

/** Keys of the Secret with the tokens of extensions. */
export const EXTENSION_TOKEN_KEYS = { controller: 'eec.token', datasource: 'datasource.token' } as const

/** The application that controls extensions. */
export const EXTENSION_CONTROLLER = 'dynatrace-extension-controller'

/** Labels of the controller itself. */
export const controllerLabels = (dynakube: DynaKube): LabelSet =>
  appLabels({
    name: EXTENSION_CONTROLLER,
    owner: dynakube.metadata.name ?? '',
    component: EXTENSION_CONTROLLER,
    version: '',
  })

/** Labels of its Service and certificate. */
export const controllerPartLabels = ({ dynakube, operator }: RenderInput): LabelSet =>
  coreLabels({
    owner: dynakube.metadata.name ?? '',
    component: EXTENSION_CONTROLLER,
    operatorVersion: operator.version,
  })
