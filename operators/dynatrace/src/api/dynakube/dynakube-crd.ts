/** The CRD `dynakubes.dynatrace.com` with all its versions. */
import { defineCrd } from '@reeve/crd'
import { v1beta3 } from './v1beta3.ts'
import { v1beta4 } from './v1beta4.ts'
import { v1beta5 } from './v1beta5.ts'
import { v1beta6 } from './v1beta6.ts'

/** The CRD, the newest version first. */
export const DynaKubeCrd = defineCrd({
  group: 'dynatrace.com',
  kind: 'DynaKube',
  plural: 'dynakubes',
  shortNames: ['dk', 'dks'],
  categories: ['dynatrace'],
  scope: 'Namespaced',
  versions: { v1beta6, v1beta5, v1beta4, v1beta3 },
})
