package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// electLeaders runs two candidates: the second becomes leader when the first
// releases the lease.
func electLeaders(ctx context.Context, client kubernetes.Interface, namespace string) error {
	first, stopFirst := context.WithCancel(ctx)
	second, stopSecond := context.WithCancel(ctx)
	defer stopFirst()
	defer stopSecond()
	elected := make(chan string, 2)
	firstEnded := campaign(first, client, namespace, "first", elected)
	if err := expectLeader(ctx, elected, "first"); err != nil {
		return err
	}
	secondEnded := campaign(second, client, namespace, "second", elected)
	stopFirst()
	<-firstEnded
	if err := expectLeader(ctx, elected, "second"); err != nil {
		return err
	}
	lease, err := client.CoordinationV1().Leases(namespace).Get(ctx, "probe", metav1.GetOptions{})
	if err != nil {
		return err
	}
	fmt.Printf("lease %s transitions=%d\n", *lease.Spec.HolderIdentity, *lease.Spec.LeaseTransitions)
	stopSecond()
	<-secondEnded
	return nil
}

// campaign runs until its context ends; the returned channel says when.
func campaign(
	ctx context.Context, client kubernetes.Interface, namespace, identity string, elected chan<- string,
) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: "probe"},
				Client:     client.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
			},
			LeaseDuration:   15 * time.Second,
			RenewDeadline:   10 * time.Second,
			RetryPeriod:     200 * time.Millisecond,
			ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { elected <- identity },
				OnStoppedLeading: func() {},
			},
		})
	}()
	return ended
}

func expectLeader(ctx context.Context, elected <-chan string, wanted string) error {
	select {
	case leader := <-elected:
		fmt.Println("leader", leader)
		if leader != wanted {
			return fmt.Errorf("%s is the leader instead of %s", leader, wanted)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s did not become the leader: %w", wanted, ctx.Err())
	}
}
