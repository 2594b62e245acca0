/** The WebApp operator: a web application as a Deployment, a Service and, with a host name, an Ingress. */
import { crdManifest } from '@reeve/crd'
import { Deployments, Ingresses, Services } from '@reeve/kube'
import { type CreatedOperator, defineOperator, type OperatorOptions } from '@reeve/runtime'
import { type WebApp, WebAppCrd, WebApps } from './api/webapp.ts'
import { NAME } from './render/labels.ts'
import { renderWebApp } from './render/render.ts'
import { report } from './report.ts'
import { requireValid } from './validate-webapp.ts'
import { webAppWebhooks } from './webhooks/webhooks.ts'

/**
 * The operator. `create` creates it for a client, `run` runs it as a process, `rbac` says which rights
 * it needs.
 *
 * @example
 * const { manager } = webAppOperator.create({ client })
 * await manager.run(signal)
 */
export const webAppOperator = defineOperator({
  name: NAME,
  controllers: [
    {
      for: WebApps,
      owns: [Deployments, Services, Ingresses],
      render: (webapp) => renderWebApp(requireValid(webapp)),
      inParallel: true,
      report,
      concurrency: 10,
      // The report records what is wrong itself.
      failureEvents: false,
    },
  ],
  webhooks: webAppWebhooks(),
  crds: [crdManifest(WebAppCrd)],
})

/** How the operator is created. */
export type WebAppOperatorOptions = OperatorOptions

/** The operator before it runs. */
export type WebAppOperator = CreatedOperator<readonly [WebApp]>

/** Puts the operator together: see {@link webAppOperator}. */
export const createWebAppOperator = (options: WebAppOperatorOptions): WebAppOperator => webAppOperator.create(options)
