package main

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

type reconciler struct {
	client.Client
	events events.EventRecorder
}

func (r *reconciler) setUp(manager ctrl.Manager, concurrency int) error {
	return ctrl.NewControllerManagedBy(manager).
		For(&WebApp{}).
		Owns(&appsv1.Deployment{}).
		Owns(&corev1.Service{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).
		Complete(r)
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	app := &WebApp{}
	if err := r.Get(ctx, request.NamespacedName, app); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: app.Name, Namespace: app.Namespace}}
	wroteDeployment, err := controllerutil.CreateOrUpdate(ctx, r.Client, deployment, func() error {
		setDeployment(app, deployment)
		return controllerutil.SetControllerReference(app, deployment, r.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: app.Name, Namespace: app.Namespace}}
	wroteService, err := controllerutil.CreateOrUpdate(ctx, r.Client, service, func() error {
		setService(app, service)
		return controllerutil.SetControllerReference(app, service, r.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	status := statusOf(app, deployment)
	before := app.Status.Phase
	if !equality.Semantic.DeepEqual(app.Status, status) {
		app.Status = status
		if err := r.Status().Update(ctx, app); err != nil {
			return ctrl.Result{}, err
		}
	}
	wrote := wroteDeployment != controllerutil.OperationResultNone || wroteService != controllerutil.OperationResultNone
	if before != status.Phase || wrote {
		reason := "Applied"
		if before != status.Phase {
			reason = status.Phase
		}
		r.events.Eventf(app, nil, corev1.EventTypeNormal, reason, "Reconcile", "%s → %s: %s Deployment, %s Service",
			before, status.Phase, wroteDeployment, wroteService)
	}
	return ctrl.Result{RequeueAfter: 30 * time.Second}, nil
}

func labelsOf(app *WebApp) map[string]string {
	return map[string]string{"app.kubernetes.io/name": "webapp", "app.kubernetes.io/instance": app.Name}
}

func setDeployment(app *WebApp, deployment *appsv1.Deployment) {
	labels := labelsOf(app)
	deployment.Labels = labels
	deployment.Spec.Replicas = &app.Spec.Replicas
	deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	template := &deployment.Spec.Template
	template.Labels = labels
	if template.Spec.SecurityContext == nil {
		template.Spec.SecurityContext = &corev1.PodSecurityContext{}
	}
	template.Spec.SecurityContext.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
	if len(template.Spec.Containers) == 0 {
		template.Spec.Containers = make([]corev1.Container, 1)
	}
	no := false
	container := &template.Spec.Containers[0]
	container.Name = "web"
	container.Image = app.Spec.Image
	container.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: app.Spec.Port, Protocol: corev1.ProtocolTCP}}
	container.SecurityContext = &corev1.SecurityContext{AllowPrivilegeEscalation: &no}
	if container.ReadinessProbe == nil {
		container.ReadinessProbe = &corev1.Probe{}
	}
	container.ReadinessProbe.TCPSocket = &corev1.TCPSocketAction{Port: intstr.FromInt32(app.Spec.Port)}
	container.ReadinessProbe.PeriodSeconds = 5
	container.ReadinessProbe.TimeoutSeconds = 2
}

func setService(app *WebApp, service *corev1.Service) {
	service.Labels = labelsOf(app)
	service.Spec.Type = corev1.ServiceType(app.Spec.Service.Type)
	service.Spec.Selector = labelsOf(app)
	if len(service.Spec.Ports) == 0 {
		service.Spec.Ports = make([]corev1.ServicePort, 1)
	}
	port := &service.Spec.Ports[0]
	port.Name, port.Port, port.TargetPort = "http", app.Spec.Service.Port, intstr.FromString("http")
	port.Protocol = corev1.ProtocolTCP
}

func statusOf(app *WebApp, deployment *appsv1.Deployment) WebAppStatus {
	available := deployment.Status.AvailableReplicas
	phase := "WaitingForPods"
	ready := metav1.ConditionFalse
	if deployment.Status.ObservedGeneration < deployment.Generation {
		phase = "Reconciling"
	} else if available >= app.Spec.Replicas {
		phase, ready = "Ready", metav1.ConditionTrue
	}
	status := app.Status
	status.Phase = phase
	status.ObservedGeneration = app.Generation
	status.Replicas = deployment.Status.Replicas
	status.AvailableReplicas = available
	status.Selector = "app.kubernetes.io/name=webapp,app.kubernetes.io/instance=" + app.Name
	status.Conditions = append([]metav1.Condition(nil), app.Status.Conditions...)
	message := fmt.Sprintf("%d of %d replicas available", available, app.Spec.Replicas)
	for _, one := range []metav1.Condition{
		{Type: "Ready", Status: ready, Reason: phase, Message: message},
		{Type: "Available", Status: ready, Reason: phase, Message: message},
		{Type: "Progressing", Status: metav1.ConditionTrue, Reason: phase, Message: message},
		{Type: "Degraded", Status: metav1.ConditionFalse, Reason: "AsExpected"},
	} {
		one.ObservedGeneration = app.Generation
		meta.SetStatusCondition(&status.Conditions, one)
	}
	return status
}
