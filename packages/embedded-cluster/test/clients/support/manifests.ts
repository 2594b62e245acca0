/** Small manifests for command-line tools. */

/** A Deployment with its Service. */
export function webManifest(name: string, replicas = 2): string {
  return `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
  labels: {app: ${name}}
spec:
  replicas: ${replicas}
  selector:
    matchLabels: {app: ${name}}
  template:
    metadata:
      labels: {app: ${name}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
        - name: main
          image: nginx:1.27
          ports: [{containerPort: 80}]
---
apiVersion: v1
kind: Service
metadata:
  name: ${name}
spec:
  selector: {app: ${name}}
  ports: [{port: 80}]
`
}

/** A ConfigMap with one key. */
export function configMapManifest(name: string, value: string): string {
  return `
apiVersion: v1
kind: ConfigMap
metadata:
  name: ${name}
data:
  key: ${JSON.stringify(value)}
`
}
