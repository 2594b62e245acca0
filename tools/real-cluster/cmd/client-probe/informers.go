package main

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
)

// followObjects writes through typed clients and waits for an informer to show
// each write before the next one, so that the order of lines is deterministic.
func followObjects(ctx context.Context, client kubernetes.Interface, namespace string) error {
	maps := client.CoreV1().ConfigMaps(namespace)
	mine := labels.Set{"probe": "yes"}
	if _, err := maps.Create(ctx, configMap("first", mine), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create: %w", err)
	}

	factory := informers.NewSharedInformerFactoryWithOptions(client, 0,
		informers.WithNamespace(namespace),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) {
			options.LabelSelector = mine.String()
		}))
	seen := make(chan string, 16)
	configMaps := factory.Core().V1().ConfigMaps()
	if _, err := configMaps.Informer().AddEventHandler(reporter(seen)); err != nil {
		return err
	}
	deployments := factory.Apps().V1().Deployments()
	ready := make(chan struct{}, 64)
	if _, err := deployments.Informer().AddEventHandler(whenReady(ready)); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return fmt.Errorf("the cache of %v did not sync", kind)
		}
	}

	steps := []func() error{
		func() error { return nil },
		func() error {
			_, err := maps.Create(ctx, configMap("second", mine), metav1.CreateOptions{})
			return err
		},
		func() error {
			object, err := configMaps.Lister().ConfigMaps(namespace).Get("second")
			if err != nil {
				return err
			}
			changed := object.DeepCopy()
			changed.Data = map[string]string{"size": "2"}
			_, err = maps.Update(ctx, changed, metav1.UpdateOptions{})
			return err
		},
		func() error {
			// The selector no longer matches, so this informer sees a deletion.
			_, err := maps.Update(ctx, configMap("second", nil), metav1.UpdateOptions{})
			return err
		},
		func() error { return maps.Delete(ctx, "first", metav1.DeleteOptions{}) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
		select {
		case line := <-seen:
			fmt.Println(line)
		case <-ctx.Done():
			return fmt.Errorf("no event from the informer: %w", ctx.Err())
		}
	}

	stale := configMap("second", nil)
	stale.ResourceVersion = "1"
	_, err := maps.Update(ctx, stale, metav1.UpdateOptions{})
	fmt.Println("conflict", apierrors.IsConflict(err))
	_, err = maps.Create(ctx, configMap("second", nil), metav1.CreateOptions{})
	fmt.Println("already exists", apierrors.IsAlreadyExists(err))
	_, err = maps.Get(ctx, "nobody", metav1.GetOptions{})
	fmt.Println("not found", apierrors.IsNotFound(err))
	_, err = maps.Create(ctx, configMap("Not A Name", nil), metav1.CreateOptions{})
	fmt.Println("invalid", apierrors.IsInvalid(err))

	if _, err := client.AppsV1().Deployments(namespace).Create(ctx, deployment(mine), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create a deployment: %w", err)
	}
	select {
	case <-ready:
		fmt.Println("deployment ready")
	case <-ctx.Done():
		return fmt.Errorf("the deployment never became ready: %w", ctx.Err())
	}
	return nil
}

func reporter(seen chan<- string) cache.ResourceEventHandler {
	line := func(verb string, object any) {
		if deleted, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = deleted.Obj
		}
		configMap := object.(*corev1.ConfigMap)
		seen <- fmt.Sprintf("%s %s size=%s", verb, configMap.Name, configMap.Data["size"])
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { line("add", object) },
		UpdateFunc: func(_, object any) { line("update", object) },
		DeleteFunc: func(object any) { line("delete", object) },
	}
}

func whenReady(ready chan<- struct{}) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, object any) {
			if object.(*appsv1.Deployment).Status.ReadyReplicas == 1 {
				ready <- struct{}{}
			}
		},
	}
}

func configMap(name string, labels labels.Set) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Data:       map[string]string{"size": "1"},
	}
}

func deployment(labels labels.Set) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](1),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx"}}},
			},
		},
	}
}
