/** All objects of a WebApp, as a value. */
import type { DesiredObject } from '@reeve/runtime'
import type { WebApp } from '../api/webapp.ts'
import { renderDeployment } from './deployment.ts'
import { renderIngress } from './ingress.ts'
import { renderService } from './service.ts'

/**
 * The objects that should exist for a WebApp. Pure: what is switched off is simply not in the list.
 *
 * @example
 * const objects = renderWebApp(webapp)
 */
export function renderWebApp(webapp: WebApp): readonly DesiredObject[] {
  return [renderDeployment(webapp), renderService(webapp), ...renderIngress(webapp)]
}
